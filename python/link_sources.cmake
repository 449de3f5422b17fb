# Links every file of the package's sources into the folder where the module was built.
file(MAKE_DIRECTORY ${TO})
file(GLOB files ${FROM}/*.py ${FROM}/*.pyi ${FROM}/py.typed)
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  file(CREATE_LINK ${file} ${TO}/${name} SYMBOLIC)
endforeach()
