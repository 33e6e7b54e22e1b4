import type { Rule } from './rules.js';

/** Rules for earlier messages that a reply can come back to. `$1` is reflected, as in a rule. */
export const MEMORIES: readonly Rule[] = [
  {
    rank: 3,
    patterns: ['my * is|are|was|were|has|have|had|does|did|can|will|would *', 'my *'],
    replies: [
      'Earlier you spoke of your $1. Has that to do with this?',
      'Let us go back to your $1. What happened there?',
      'I keep thinking of your $1, as far as rules can think. Tell me more.',
    ],
  },
  {
    rank: 2,
    patterns: ['i am *', 'i feel *'],
    replies: [
      'A while ago you said that you feel or are $1. Is it still so?',
      'Before, it was about being $1. And now?',
    ],
  },
  {
    rank: 1,
    patterns: ['i want *', 'i need *', 'i would like *'],
    replies: ['You said that you want $1. Did you come any closer?', 'And what about $1, which you wanted before?'],
  },
];

/** Replies for a message without a matching rule and without a remembered topic. */
export const FALLBACKS: readonly string[] = [
  'Please tell me more.',
  'I am not sure that I follow: I am only a small set of rules. Can you put it another way?',
  'What does that mean to you?',
  'Go on.',
  'How did you come to that?',
  'That is interesting. And then?',
];

/** The filler text. It is cut to the requested number of words, and repeated if it is too short. */
export const FILLER =
  'This is filler from the built-in stand-in, so that you can watch a long answer arrive word by word. ' +
  'It says nothing in particular and says it slowly. ' +
  'Each word leaves the service as soon as it is there, and nothing waits for the end of the sentence. ' +
  'If the words reach you one after another, then every proxy on the way passes the stream on without holding it back. ' +
  'If they come all at once, look for something between us that buffers. ' +
  'You may stop reading at any time, and the work behind the stream stops with you. ';
