/**
 * A rule of the built-in conversation partner. All rules are data: new replies need no change of code.
 *
 * A pattern is a row of words that may occur anywhere in a clause. `*` matches any text of at least one character, `a|b`
 * matches either word, and `^` and `$` match the ends of the clause. In a reply, `$1` is the text that the first `*`
 * matched, from the view of the other speaker ("my cat" becomes "your cat").
 */
export interface Rule {
  /** The matching rule with the highest rank wins. Among equal ranks, the first rule of the list wins. */
  readonly rank: number;
  readonly patterns: readonly string[];
  /** Temperature 0 always gets the first reply. */
  readonly replies: readonly string[];
}

const ABOUT_ITSELF =
  'I am the built-in stand-in of this service: a small set of rules, not a language model. ' +
  'I turn your words around and cannot know or reason about anything.';

const HOW_TO_CONFIGURE =
  'To talk to a real model, set the key of a provider in the environment of the service, such as OPENAI_API_KEY, ' +
  'ANTHROPIC_API_KEY or OPENROUTER_API_KEY (or OLLAMA_BASE_URL for a local server), start the service again, and choose ' +
  'one of the models that GET /api/v1/chat/models then lists. A CONFIG_FILE of your own can add other providers and models.';

const WHAT_IT_CAN_DO =
  'For trying out streaming I know three requests: "echo" and a text repeats the text, "count to 20" counts, ' +
  'and "write 500 words" writes that many words of filler. Anything else becomes small talk.';

export const RULES: readonly Rule[] = [
  {
    rank: 100,
    patterns: [
      'who|what are you',
      'who|what you are',
      'are you a|an|the *',
      'are you chatgpt|gpt|claude|gemini|grok|llama|mistral|human|real|alive|intelligent|sentient|eliza|conscious',
      'what|which model',
      'your name',
      'about yourself',
      'language model',
    ],
    replies: [`${ABOUT_ITSELF} ${HOW_TO_CONFIGURE}`],
  },
  {
    rank: 95,
    patterns: [
      'real|another|better model',
      'configure|add|connect a|an|another|the|some vendor|model|provider|upstream',
      'how do|can i configure|connect|add|set *',
      'api key|keys',
    ],
    replies: [`${HOW_TO_CONFIGURE} Until then I answer: a small set of rules, not a language model.`],
  },
  {
    rank: 90,
    patterns: ['what can|do you do', 'what can i ask|do|say|try', '^ help', 'can you help *'],
    replies: [`${WHAT_IT_CAN_DO} ${ABOUT_ITSELF}`],
  },
  {
    rank: 60,
    patterns: ['i remember *'],
    replies: [
      'What brings $1 to mind just now?',
      'Do you often think of $1?',
      'And what happened after $1?',
      'Which part of $1 stayed with you most?',
    ],
  },
  {
    rank: 60,
    patterns: ['if *'],
    replies: ['How likely is it that $1?', 'What would you do first if $1?', 'Suppose $1. What then?'],
  },
  {
    rank: 55,
    patterns: ['i dreamed|dreamt of|about|that *', 'i had a dream *', 'my dream|dreams'],
    replies: [
      'What did it feel like when you woke up?',
      'Dreams borrow from the day. What in yours comes from yesterday?',
      'Would you want to have that one again?',
    ],
  },
  {
    rank: 50,
    patterns: ['i am sad|unhappy|depressed|lonely|tired|afraid|worried|angry|stressed|exhausted'],
    replies: [
      'I am sorry to hear it. What has been weighing on you?',
      'That sounds hard. When did it begin?',
      'Is there someone near you with whom you can talk about it?',
    ],
  },
  {
    rank: 50,
    patterns: ['i am happy|glad|excited|pleased|proud|relieved'],
    replies: [
      'Good to hear! What made the difference?',
      'Tell me what led to it.',
      'Whom would you like to tell about it?',
    ],
  },
  {
    rank: 45,
    patterns: ['i feel *', 'i felt *'],
    replies: [
      'What makes you feel $1?',
      'How long have you felt $1?',
      'When you feel $1, what helps?',
      'Does anyone else know that you feel $1?',
    ],
  },
  {
    rank: 45,
    patterns: ['i want *', 'i need *', 'i would like *', 'i wish *'],
    replies: [
      'What would change if you got it: $1?',
      'What stands between you and $1?',
      'Why that now: $1?',
      'And if it never came about, $1, what then?',
    ],
  },
  {
    rank: 45,
    patterns: ['i can not *', 'i could not *'],
    replies: [
      'What have you tried so far, to $1?',
      'What would you need so that you can $1?',
      'Perhaps you can $1 in smaller steps. What would be the first?',
    ],
  },
  {
    rank: 45,
    patterns: ['i do not know *', 'i do not understand *'],
    replies: ['Which part is unclear?', 'What would you have to find out first?', 'Whom could you ask about it?'],
  },
  {
    rank: 40,
    patterns: ['i think *', 'i believe *', 'i guess *'],
    replies: [
      'What makes you think $1?',
      'How sure are you that $1?',
      'What would change your mind about it?',
      'Who would disagree that $1?',
    ],
  },
  {
    rank: 40,
    patterns: ['i love *', 'i like *', 'i enjoy *'],
    replies: ['What do you like most about $1?', 'How did you come to $1?', 'With whom do you share $1?'],
  },
  {
    rank: 40,
    patterns: ['i hate *', 'i dislike *', 'i do not like *'],
    replies: ['What is it about $1 that bothers you?', 'Was it always so with $1?', 'Can you stay away from $1?'],
  },
  {
    rank: 40,
    patterns: ['i have to *', 'i must *', 'i should *'],
    replies: ['Who says that you should $1?', 'What happens if you do not $1?', 'When will you $1?'],
  },
  {
    rank: 38,
    patterns: ['my mother|father|sister|brother|wife|husband|son|daughter|family|parents|friend|friends|boss|dog|cat'],
    replies: ['Tell me more about them.', 'How do the two of you get on?', 'What would they say if they read this?'],
  },
  {
    rank: 36,
    patterns: ['why do not you *'],
    replies: ['Would it help you if I did $1?', 'My rules say nothing about that: $1. Why do you ask?'],
  },
  {
    rank: 36,
    patterns: ['can|could|will|would you *'],
    replies: [
      'My rules do not cover that: $1. A language model might.',
      'I am only a stand-in and can hardly $1. What would you do with the result?',
      'What would you need it for, that I $1?',
    ],
  },
  {
    rank: 34,
    patterns: ['you are *'],
    replies: [
      'What makes you say that I am $1?',
      'Would it please you if I were $1?',
      'I only follow rules. Are you $1?',
    ],
  },
  {
    rank: 34,
    patterns: ['because *'],
    replies: ['Is that the whole reason?', 'Which other reason could there be?', 'Does that explain the rest, too?'],
  },
  {
    rank: 32,
    patterns: ['i am *'],
    replies: [
      'How long have you been $1?',
      'How is it for you to be $1?',
      'Did anything change since you are $1?',
      'Would others also say that you are $1?',
    ],
  },
  {
    rank: 30,
    patterns: ['always|never|everybody|everyone|nobody'],
    replies: ['Can you think of an exception?', 'Really without exception?', 'Which case do you have in mind?'],
  },
  {
    rank: 30,
    patterns: ['sorry'],
    replies: ['No need to be sorry.', 'All is well. Please go on.', 'Do not mind me: I have no feelings to hurt.'],
  },
  {
    rank: 28,
    patterns: ['thanks', 'thank you', 'thx', 'cheers'],
    replies: [
      'You are welcome!',
      'With pleasure. Is there anything else?',
      'Glad to be of use, for a handful of rules.',
    ],
  },
  {
    rank: 26,
    patterns: ['goodbye', 'bye', 'good night', 'see you'],
    replies: ['Goodbye! It was nice to talk.', 'Until next time.', 'Take care.'],
  },
  {
    rank: 25,
    patterns: ['how are you', 'how do you do', 'how is it going', 'what is up'],
    replies: ['All my rules are in order, thank you. And how are you?', 'Unchanging, as rules are. How about you?'],
  },
  {
    rank: 24,
    patterns: ['what *', 'how *', 'why *', 'when *', 'where *', 'who *', 'which *'],
    replies: [
      'I have rules but no knowledge, so I cannot answer that. What do you think yourself?',
      'A language model could try to answer that; I can only ask back. Why do you want to know?',
      'Good question. What would a good answer look like?',
    ],
  },
  {
    rank: 20,
    patterns: ['hello', 'hi', 'hey', 'good morning|afternoon|evening|day', 'greetings', 'moin', 'hallo'],
    replies: [
      'Hello! I am the built-in stand-in, a small set of rules and not a language model. What would you like to talk about?',
      'Hi there! You are talking to the built-in stand-in. What is on your mind?',
      'Good to see you. I am only rules, but I listen. What shall we talk about?',
    ],
  },
  {
    rank: 18,
    patterns: ['my * is|are|was|were|has|have|had|does|did|can|will|would *', 'my *'],
    replies: ['Tell me more about your $1.', 'What matters most about your $1?', 'Since when is that so with your $1?'],
  },
  {
    rank: 10,
    patterns: ['^ yes|yeah|yep|sure|ok|okay|right $'],
    replies: ['I see. Please go on.', 'And what follows from that?', 'You seem quite sure.'],
  },
  {
    rank: 10,
    patterns: ['^ no|nope|nah $'],
    replies: ['Why not?', 'Not at all?', 'What would make it a yes?'],
  },
  {
    rank: 10,
    patterns: ['test', 'testing', 'ping'],
    replies: ['It works: these words reached you as a stream. Try "count to 20" or "write 200 words".'],
  },
];
