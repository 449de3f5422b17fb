# Links every file of the package's sources into the folder where the module was built.
file(GLOB_RECURSE files RELATIVE ${FROM} ${FROM}/*.py ${FROM}/*.pyi ${FROM}/py.typed)
foreach(file ${files})
  get_filename_component(folder ${file} DIRECTORY)
  file(MAKE_DIRECTORY ${TO}/${folder})
  file(CREATE_LINK ${FROM}/${file} ${TO}/${file} SYMBOLIC)
endforeach()
