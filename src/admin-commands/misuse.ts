/** The operator has given a command line, or an input, that cannot be used. The message says what to do. */
export class Misuse extends Error {}
