// The errors of files.
@_exported public import SealedFiles
