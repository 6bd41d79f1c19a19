# SPDX-License-Identifier: MIT
# What other projects get: the library warpfold::warpfold, the target warpfold::testing and the function
# warpfold_add_cuda_test, by add_subdirectory and FetchContent from here, by find_package(warpfold) from what is installed
# here; the library by pkg-config too.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The headers take the names of the counters, and the calls, from the software GPU's own files.
set(copied ${PROJECT_BINARY_DIR}/include/warpfold/testing)
configure_file(${PROJECT_SOURCE_DIR}/softgpu/observe/counters.def ${copied}/counters.def COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/softgpu/runtime/abi/testing.h ${copied}/abi.h COPYONLY)

add_library(warpfold_testing INTERFACE)
add_library(warpfold::testing ALIAS warpfold_testing)
target_include_directories(warpfold_testing INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
target_link_libraries(warpfold_testing INTERFACE ${CMAKE_DL_LIBS})
target_compile_features(warpfold_testing INTERFACE cxx_std_17)
set_target_properties(warpfold_testing PROPERTIES
  WARPFOLD_RUNTIME_FOLDER ${PROJECT_BINARY_DIR}/softgpu/lib
  WARPFOLD_CARDS_FOLDER ${PROJECT_SOURCE_DIR}/softgpu/predict/cards)
include(${CMAKE_CURRENT_LIST_DIR}/testing.cmake)

# The plug-in for pytest: a folder that pip installs.
set(plugin ${PROJECT_BINARY_DIR}/package/pytest)
configure_file(${PROJECT_SOURCE_DIR}/tool/pytest/pyproject.toml.in ${plugin}/pyproject.toml @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/tool/pytest/warpfold_pytest.py ${plugin}/warpfold_pytest.py COPYONLY)

if(NOT WARPFOLD_INSTALL)
  return()
endif()
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/warpfold)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/warpfold)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/warpfold/ DESTINATION ${headers}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(DIRECTORY ${copied} DESTINATION ${headers} FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${plugin}/pyproject.toml ${plugin}/warpfold_pytest.py DESTINATION ${CMAKE_INSTALL_DATADIR}/warpfold/pytest
  COMPONENT softgpu)
file(RELATIVE_PATH from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/warpfold.pc.in ${PROJECT_BINARY_DIR}/package/warpfold.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/warpfold.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(installed_headers ${CMAKE_INSTALL_INCLUDEDIR})
set(installed_command ${CMAKE_INSTALL_BINDIR}/warpfold)
set(installed_runtimes ${CMAKE_INSTALL_LIBDIR}/warpfold)
set(installed_cards ${CMAKE_INSTALL_DATADIR}/warpfold/cards)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/warpfoldConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/warpfoldConfig.cmake
  INSTALL_DESTINATION ${package}
  PATH_VARS installed_headers installed_command installed_runtimes installed_cards
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/warpfoldConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/warpfoldConfig.cmake
  ${PROJECT_BINARY_DIR}/package/warpfoldConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/testing.cmake
  ${CMAKE_CURRENT_LIST_DIR}/toolkit.cmake
  DESTINATION ${package})
