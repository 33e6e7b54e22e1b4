/** Everything that could move the cursor or change the terminal, but not line breaks and tabs. */
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Prints the pieces as they come. */
export async function printAnswer(pieces: AsyncIterable<string>, onPiece?: (piece: string) => void): Promise<void> {
  let begun = false;
  try {
    for await (const piece of pieces) {
      begun = true;
      onPiece?.(piece);
      // A model's text may not steer the terminal; a file or another program gets it as it is.
      process.stdout.write(process.stdout.isTTY ? piece.replace(CONTROL_CHARACTERS, '') : piece);
    }
  } finally {
    if (begun) process.stdout.write('\n');
  }
}
