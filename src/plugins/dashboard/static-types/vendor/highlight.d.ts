/** The library that adds colors to code, at the path at which the service serves it. */
export { default } from 'highlight.js';
