import { CJK_CHARACTERS, CJK_WORDS } from './cjk-vocabulary.js';

/** The tokens of a character that is no token: two or three of its three bytes. */
const TOKENS_OF_RARE = 2;
const FIRST_HANGUL = 0xac00;
const TOKENS_OF_RARE_HANGUL = 2.5;

/** The beginnings of words have these numbers. The empty one is the root. */
const ROOT = 0;
const CODE_BITS = 16;
const SLOT_BITS = 14;
const SLOTS = 1 << SLOT_BITS;

/** What follows each beginning, as a hash table with open addressing: a character makes a longer beginning, for more tokens or fewer. */
const keys = new Int32Array(SLOTS).fill(-1);
const beginnings = new Uint16Array(SLOTS);
const addedTokens = new Int8Array(SLOTS);
addVocabulary();

/**
 * Counts the tokens of Chinese, Japanese and Korean text, character by character. Unlike words of alphabets, most words are two or
 * three characters with tokens of their own, so that an average per character would be wrong by a factor of two either way.
 */
export class CjkTokens {
  private beginning = ROOT;

  /**
   * Returns by how many tokens the next character changes the count: a character that completes a word can take some back.
   *
   * @param continues whether the character follows the one of the last call.
   */
  add(code: number, continues: boolean): number {
    if (!continues) this.beginning = ROOT;
    let slot = slotOf(this.beginning, code);
    if (keys[slot] === -1 && this.beginning !== ROOT) slot = slotOf(ROOT, code);
    if (keys[slot] === -1) {
      this.beginning = ROOT;
      return tokensOfRare(code);
    }
    this.beginning = beginnings[slot] as number;
    return addedTokens[slot] as number;
  }
}

function tokensOfRare(code: number): number {
  return code < FIRST_HANGUL ? TOKENS_OF_RARE : TOKENS_OF_RARE_HANGUL;
}

/** Returns the slot of what follows, or the empty one where it would be. */
function slotOf(beginning: number, code: number): number {
  const key = (beginning << CODE_BITS) | code;
  let slot = Math.imul(key, 0x9e3779b1) >>> (32 - SLOT_BITS);
  while (keys[slot] !== key && keys[slot] !== -1) slot = (slot + 1) & (SLOTS - 1);
  return slot;
}

function addVocabulary(): void {
  const words = [...Array.from(CJK_CHARACTERS.replaceAll(/\s/g, '')), ...CJK_WORDS.trim().split(/\s+/)];
  let count = 0;
  for (const word of words) {
    let beginning = ROOT;
    let tokens = 0;
    for (let index = 0; index < word.length; index += 1) {
      const code = word.charCodeAt(index);
      const slot = slotOf(beginning, code);
      if (keys[slot] === -1) {
        keys[slot] = (beginning << CODE_BITS) | code;
        count += 1;
        beginnings[slot] = count;
        // A beginning that is no word counts like its characters.
        addedTokens[slot] = index === word.length - 1 ? 1 - tokens : tokensOfCharacter(code);
      }
      tokens += addedTokens[slot] as number;
      beginning = beginnings[slot] as number;
    }
  }
}

function tokensOfCharacter(code: number): number {
  const slot = slotOf(ROOT, code);
  return keys[slot] === -1 ? tokensOfRare(code) : (addedTokens[slot] as number);
}
