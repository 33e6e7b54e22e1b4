/** The error for an invalid command line or an invalid input. The message tells the operator what to do. */
export class Misuse extends Error {}
