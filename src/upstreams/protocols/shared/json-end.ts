const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The codes of `[` and `{`, and of `]` and `}`. */
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Finds the end of a JSON object that arrives in pieces. Reads each character once. */
export class JsonEnd {
  isReached = false;
  private depth = 0;
  private isInText = false;
  private isEscaped = false;

  read(piece: string): void {
    for (let index = 0; index < piece.length && !this.isReached; index += 1) this.readUnit(piece.charCodeAt(index));
  }

  private readUnit(unit: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (this.isInText && unit === BACKSLASH) this.isEscaped = true;
    else if (unit === QUOTE) this.isInText = !this.isInText;
    else if (this.isInText) return;
    else if (OPENING.has(unit)) this.depth += 1;
    else if (CLOSING.has(unit)) {
      this.depth -= 1;
      this.isReached = this.depth === 0;
    }
  }
}
