import { isCompletionRequest } from './answer/completion-stream.js';

/**
 * @typedef {import('./answer/completion-stream.js').AnyRequest} AnyRequest
 * @typedef {import('./answer/completion-stream.js').CompletionMessage} CompletionMessage
 */

/** @typedef {import('./answer/completion-stream.js').FunctionCall & { result?: string }} ToolCall `result` is what the user has written */

/**
 * The state of an answer. `stopped`: the user stopped the answer. `failed`: the answer could not begin, or broke off.
 *
 * @typedef {'answering' | 'complete' | 'stopped' | 'failed'} TurnState
 */

/** A question and its answer. Session storage keeps the fields, and the JSON export contains them. */
export class Turn {
  id = crypto.randomUUID();
  /** The id of the turn before this one. Turns with the same one are branches. @type {string | undefined} */
  parentId;
  /** The id of the turn with the answer of another model to the same question. @type {string | undefined} */
  besideId;
  /** The images of the question, as `data:` URLs. @type {readonly string[]} */
  images = [];
  /** The calls of tools in the answer. @type {ToolCall[]} */
  calls = [];
  /** @type {TurnState} */
  state = 'answering';
  answer = '';
  modelName = '';
  /** The request exactly as it was sent. @type {AnyRequest | undefined} */
  request;
  /** @type {string | undefined} */
  requestId;
  /** A request with the same key continues the answer, and costs nothing more. @type {string | undefined} */
  idempotencyKey;
  /** In milliseconds since 1970. */
  askedAt = 0;
  /** In milliseconds since 1970. @type {number | undefined} */
  lastTextAt;
  /** Why the answer failed. @type {import('./answer/failure-advice.js').KeptFailure | undefined} */
  failure;
  /** The position of a durable stream. @type {string | undefined} */
  streamId;
  /** @type {string | undefined} */
  lastEventId;
  /** @type {import('../client.js').Receipt | undefined} */
  receipt;

  /** @param {string} question */
  constructor(question) {
    this.question = question;
  }

  /** @param {Partial<Omit<Turn, 'id'>> & Pick<Turn, 'question'> & { readonly id?: string }} kept the fields of a turn */
  static from(kept) {
    return Object.assign(new Turn(kept.question), kept);
  }

  /**
   * Begins an answer. A question can be asked again: the new answer replaces the old one.
   *
   * @param {AnyRequest} request
   * @param {string} modelName
   * @param {string} idempotencyKey
   */
  begin(request, modelName, idempotencyKey) {
    const nothing = {
      requestId: undefined,
      streamId: undefined,
      lastEventId: undefined,
      receipt: undefined,
      calls: [],
    };
    const started = { request, modelName, idempotencyKey, askedAt: Date.now(), lastTextAt: undefined, answer: '' };
    Object.assign(this, { ...nothing, ...started });
    this.continue();
  }

  /** Goes on with an answer that failed because of the connection. */
  continue() {
    Object.assign(this, { state: 'answering', failure: undefined });
  }

  /** @param {string} text */
  add(text) {
    this.answer += text;
    this.lastTextAt = Date.now();
  }

  /**
   * Records what is known of the stream, so that it can be continued or cancelled.
   *
   * @param {import('../client.js').ChatStream} stream
   */
  isAt({ requestId, streamId, lastEventId }) {
    // A stream that is continued has the receipt of the request that has begun it.
    this.requestId ??= requestId;
    Object.assign(this, { streamId, lastEventId });
  }

  /**
   * @param {Exclude<TurnState, 'answering'>} state
   * @param {import('./answer/failure-advice.js').KeptFailure} [failure]
   */
  end(state, failure) {
    Object.assign(this, { state, failure });
  }

  /**
   * How the rest of the answer can be fetched without a new answer: from its stream, or by the same request with the same key.
   * `undefined` if only a new answer helps.
   *
   * @returns {'stream' | 'request' | undefined}
   */
  get continuation() {
    const { state, failure, streamId, idempotencyKey, request } = this;
    if (state !== 'answering' && (state !== 'failed' || failure === undefined)) return undefined;
    // The service has reported the end of the answer, or does not keep the answer any longer.
    if (failure?.kind === 'failed' || failure?.status === 404) return undefined;
    if (streamId !== undefined && !isCompletionRequest(request)) return 'stream';
    const mayHaveBegun = failure === undefined || failure.kind === 'cut' || failure.kind === 'unreachable';
    return mayHaveBegun && idempotencyKey !== undefined && request !== undefined ? 'request' : undefined;
  }

  /** Whether the same request with the same key gives an answer. The answer is charged at most once. */
  get mayBeRepeated() {
    return this.failure !== undefined && this.failure.kind !== 'failed' && this.streamId === undefined;
  }

  /**
   * Whether later requests include this turn. They include a stopped answer, because the user has seen its text and continues
   * from there. They leave out a failed answer, because its missing part is unknown. They leave out an empty answer, because
   * the API rejects empty messages.
   */
  get isSentAlong() {
    if (this.state === 'complete') return this.answer !== '' || this.calls.length > 0;
    return this.state === 'stopped' && this.answer !== '';
  }

  /** Whether the answer ended before the model had said everything, so that the user may want more of it. */
  get isCutOff() {
    return this.isSentAlong && (this.state === 'stopped' || this.receipt?.finish_reason === 'length');
  }
}

/** The turns of a conversation. A question that is edited or asked again begins a branch. */
export class Conversation {
  #id = crypto.randomUUID();
  /** The branch that the page shows. @type {Turn[]} */
  #turns = [];
  /** The turns of all branches, the oldest first. @type {Map<string, Turn>} */
  #all = new Map();

  get id() {
    return this.#id;
  }

  /** @returns {import('./history/conversation-store.js').KeptConversation} */
  get kept() {
    return { id: this.#id, turns: [...this.#all.values()], path: this.#turns.map(({ id }) => id) };
  }

  /** @returns {readonly Turn[]} */
  get turns() {
    return this.#turns;
  }

  get isEmpty() {
    return this.#turns.length === 0;
  }

  get last() {
    return this.#turns.at(-1);
  }

  /**
   * @param {string} question empty if the turn only sends the results of tools
   * @param {readonly string[]} [images]
   */
  ask(question, images = []) {
    const turn = Turn.from({ question, images, parentId: this.last?.id });
    this.#turns.push(turn);
    this.#all.set(turn.id, turn);
    return turn;
  }

  /** Asks another model the question of a turn. The new turn is a branch. @param {Turn} turn */
  askBeside({ id, question, images, parentId }) {
    const turn = Turn.from({ question, images, parentId, besideId: id });
    this.#all.set(turn.id, turn);
    return turn;
  }

  /** The turn with the answer of another model to the same question. @param {Turn} turn */
  besideOf({ id, besideId }) {
    return [...this.#all.values()].find((one) => one.id === besideId || one.besideId === id);
  }

  /** Replaces the conversation. @param {import('./history/conversation-store.js').KeptConversation} [kept] nothing for a new one */
  restore({ id, turns, path } = { id: crypto.randomUUID(), turns: [], path: [] }) {
    this.#id = /** @type {ReturnType<Crypto['randomUUID']>} */ (id);
    // A turn that the browser has kept has its fields only.
    this.#all = new Map(turns.map((turn) => [turn.id, turn instanceof Turn ? turn : Turn.from(turn)]));
    this.#turns = path.flatMap((one) => this.#all.get(one) ?? []);
  }

  /** The turns that follow the same turn, the oldest first. @param {Turn} turn */
  branchesAt({ parentId }) {
    return [...this.#all.values()].filter((one) => one.parentId === parentId);
  }

  /** Shows the branch of a turn, with the latest turns that follow it. @param {Turn} turn */
  showBranch(turn) {
    /** @type {Turn[]} */
    const path = [];
    for (let one = this.#all.get(turn.id); one; one = this.#all.get(one.parentId ?? '')) path.unshift(one);
    for (let one = this.#latestAfter(turn); one; one = this.#latestAfter(one)) path.push(one);
    this.#turns = path;
  }

  /** @param {Turn} turn */
  #latestAfter({ id }) {
    return [...this.#all.values()].findLast(({ parentId }) => parentId === id);
  }

  /** Keeps the answer of a turn, and what follows it, as a branch, before the question is asked again. @param {Turn} turn */
  branchOff(turn) {
    const copy = Turn.from({ ...turn, besideId: undefined });
    this.#all.set(copy.id, copy);
    const { kept } = this;
    turn.id = crypto.randomUUID();
    // The answer of the other model stays beside the new one.
    for (const one of this.#all.values()) if (one.besideId === copy.id) one.besideId = turn.id;
    this.#all.set(turn.id, turn);
    return kept;
  }

  /**
   * Removes the turns from this one on from the page. They stay as a branch.
   *
   * @param {Turn} turn
   */
  cutBefore(turn) {
    this.#turns = this.#turns.slice(0, this.#turns.indexOf(turn));
  }

  /**
   * The messages of the request for an answer to the question: the system prompt, the earlier turns and the question.
   *
   * @param {string} system the system prompt. A prompt of only white space is left out.
   * @param {{ readonly question: string, readonly images: readonly string[] }} asked
   * @param {Turn} [turn] the turn of the question, if the page shows it. Later turns are left out.
   * @returns {CompletionMessage[]}
   */
  messages(system, asked, turn) {
    /** @type {CompletionMessage[]} */
    const messages = system.trim() === '' ? [] : [{ role: 'system', content: system }];
    const earlier = turn === undefined ? this.#turns : this.#turns.slice(0, this.#turns.indexOf(turn));
    for (const one of earlier.filter(({ isSentAlong }) => isSentAlong)) {
      messages.push(...questionOf(one), ...answerOf(one));
    }
    return [...messages, ...questionOf(asked)];
  }
}

/**
 * @param {{ readonly question: string, readonly images: readonly string[] }} asked
 * @returns {CompletionMessage[]}
 */
function questionOf({ question, images }) {
  if (images.length === 0) return question === '' ? [] : [{ role: 'user', content: question }];
  const parts = images.map((url) => /** @type {const} */ ({ type: 'image_url', image_url: { url } }));
  return [{ role: 'user', content: question === '' ? parts : [{ type: 'text', text: question }, ...parts] }];
}

/**
 * The answer with its calls, each with a result: models take no call without one.
 *
 * @param {Turn} turn
 * @returns {CompletionMessage[]}
 */
function answerOf({ answer, calls }) {
  if (calls.length === 0) return [{ role: 'assistant', content: answer }];
  return [
    { role: 'assistant', content: answer || null, tool_calls: calls.map(({ result, ...call }) => call) },
    ...calls.map(
      ({ id, result = 'There is no result.' }) =>
        /** @type {const} */ ({ role: 'tool', tool_call_id: id, content: result }),
    ),
  ];
}
