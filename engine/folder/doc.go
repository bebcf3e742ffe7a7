// Package folder makes a folder of Markdown, plain text and HTML searchable.
//
// It decides which files of a folder are read ([Walk]), what a file says
// ([Markdown], [HTML]), which of them an index already holds ([Index.Sync]),
// and which words of a passage are shown for a question ([Index.Search]).
//
// It refuses what it could only guess at: a file that is binary or not UTF-8,
// too long, or a symbolic link is left out and named, and the others are read.
// It never follows a link out of the folder, enters no hidden folder, and
// writes nothing beside its store. It refuses a store that holds another
// folder, since bringing it up to date would remove that one's documents.
package folder
