/** The library that draws formulas, at the path at which the service serves it. */
export { default } from 'katex';
