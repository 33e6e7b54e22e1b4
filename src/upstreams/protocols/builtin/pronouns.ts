/** Contractions and their full forms. With full forms, a pattern needs only one form of each expression. */
const CONTRACTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "i'm": 'I am',
    "i've": 'I have',
    "i'd": 'I would',
    "i'll": 'I will',
    "you're": 'you are',
    "you've": 'you have',
    "you'd": 'you would',
    "you'll": 'you will',
    "can't": 'can not',
    cannot: 'can not',
    "couldn't": 'could not',
    "don't": 'do not',
    "doesn't": 'does not',
    "didn't": 'did not',
    "won't": 'will not',
    "isn't": 'is not',
    "aren't": 'are not',
    "wasn't": 'was not',
    "shouldn't": 'should not',
    "what's": 'what is',
    "who's": 'who is',
    "how's": 'how is',
    "where's": 'where is',
  }),
);

/** Words that change with the speaker. Two words come before one word, so that "I am" does not become "you am". */
const MIRRORED: Readonly<Record<string, string>> = {
  'i am': 'you are',
  'i was': 'you were',
  'am i': 'are you',
  'was i': 'were you',
  'you are': 'I am',
  'you were': 'I was',
  'are you': 'am I',
  'were you': 'was I',
  i: 'you',
  me: 'you',
  my: 'your',
  mine: 'yours',
  myself: 'yourself',
  your: 'my',
  yours: 'mine',
  yourself: 'myself',
};

/** "You" is the subject before these verbs and at the start of a text. Elsewhere "you" is the object. */
const VERBS_AFTER_SUBJECT =
  'have|had|can|could|will|would|do|did|should|must|may|might|know|think|want|need|like|love|say|said';

const alternatives = (table: Readonly<Record<string, string>>) => Object.keys(table).join('|');
const mirrored = new RegExp(`(?<![\\p{L}'])(?:${alternatives(MIRRORED)}|you)(?![\\p{L}'])`, 'giu');
const verbFollows = new RegExp(`^\\s+(?:${VERBS_AFTER_SUBJECT})(?!\\p{L})`, 'iu');

export function expandContractions(text: string): string {
  return text.replaceAll('’', "'").replace(/[\p{L}']+/gu, (word) => CONTRACTIONS.get(word.toLowerCase()) ?? word);
}

/**
 * Returns the fragment from the view of the other speaker.
 *
 * @example reflect('I am sure you like my cat') // 'you are sure I like your cat'
 */
export function reflect(fragment: string): string {
  return fragment.replace(mirrored, (word, offset: number) => {
    const isSubject = offset === 0 || verbFollows.test(fragment.slice(offset + word.length));
    return MIRRORED[word.toLowerCase()] ?? (isSubject ? 'I' : 'me');
  });
}
