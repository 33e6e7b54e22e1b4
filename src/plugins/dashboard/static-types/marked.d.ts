/** The Markdown parser, at the path at which the service serves its built file to the scripts of the pages. */
export * from 'marked';
