/**
 * Splits text into words, each with the white space that follows it; white space at the very start goes with the first
 * word. Joined, the pieces are the text again. A word's code points stay together.
 */
export function splitWords(text: string): string[] {
  return text.match(/^\s*\S+\s*|\S+\s*|^\s+$/g) ?? [];
}

export function countWords(text: string): number {
  const word = /\S+/g;
  let count = 0;
  while (word.test(text)) count += 1;
  return count;
}
