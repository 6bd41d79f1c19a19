# SPDX-License-Identifier: MIT
"""A hook of mkdocs. Links to folders, which a site does not list, become links to their README.md, or plain text; a page's
title is its first heading, also behind a comment."""
import pathlib
import posixpath
import re


def on_page_markdown(markdown, page, config, files):
    markdown = re.sub(r"^<!--.*?-->\s*", "", markdown, flags=re.S)
    here = posixpath.dirname(page.file.src_uri)

    def link(match):
        target = pathlib.Path(config.docs_dir, here, match[2])
        if not target.is_dir():
            return match[0]
        return f"[{match[1]}]({match[2].rstrip('/')}/README.md)" if (target / "README.md").exists() else match[1]

    return re.sub(r"\[([^\]\[]*)\]\(([^)#:\s]+)\)", link, markdown)
