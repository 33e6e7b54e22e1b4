// The scripts of the scripted provider. The model name of a request selects the script. The load client uses the same table,
// so it knows every character that must arrive.

/**
 * @typedef {object} Script
 * @property {'burst' | 'paced' | 'idle' | 'cut' | 'refuse'} kind
 *   burst: as fast as the socket accepts the bytes; paced: at a fixed interval, each text is a stamp; idle: one event, then
 *   silence; cut: the connection breaks off; refuse: an HTTP error instead of a stream.
 * @property {number} events the number of pieces of text
 * @property {number} everyMs for paced scripts: the time between two events
 * @property {number} status the HTTP status of the answer
 * @property {boolean} isPacked whether one HTTP chunk has all events of a cycle, and not one event
 * @property {boolean} callsTool whether the texts are the pieces of the arguments of a tool call
 * @property {readonly string[]} cycle the texts, repeated until `events` texts are sent. Empty if each text is a stamp.
 */

// Pieces with the size of tokens, as providers send them: words with their leading space. Some pieces contain characters that
// JSON must escape, or that need several bytes in UTF-8.
const PROSE =
  ' The| relay| hands| each| piece| of| text| on| as| soon| as| it| arrives|,| and| it| keeps| the| order|.|\n\n|-| First|,| a| provider|' +
  ' sends| a| few| letters|;| then| the| next| few|.| "|Quick|"| is| what| a| reader| calls| it|,| “|prompt|”| the| engineer| –| naïve|' +
  ' perhaps| 🙂|,| but| true|.| What| matters| is| that| nothing| waits|:| neither| the| buffer| nor| the| writer|.';
const PROSE_CYCLE = PROSE.split('|');

const KILOBYTE_CYCLE = Array.from({ length: 16 }, (_, index) =>
  `${String(index).padStart(2, '0')} `.padEnd(1024, 'abcdefg '),
);

/** The arguments of a tool call in pieces: one string, and together valid JSON. */
const argumentCycle = (pieces) => [
  '{"query":"',
  ...Array.from({ length: pieces - 2 }, (_, index) => `word${index} `),
  '"}',
];

/** @type {readonly { pattern: RegExp, make: (numbers: number[]) => Partial<Script> }[]} */
const FAMILIES = [
  { pattern: /^(?:full|short)-(\d+)$/, make: ([events]) => ({ kind: 'burst', events, cycle: PROSE_CYCLE }) },
  { pattern: /^packed-(\d+)$/, make: ([events]) => ({ kind: 'burst', events, cycle: PROSE_CYCLE, isPacked: true }) },
  { pattern: /^flood-(\d+)$/, make: ([events]) => ({ kind: 'burst', events, cycle: KILOBYTE_CYCLE }) },
  {
    pattern: /^tools-(\d+)$/,
    make: ([events]) => ({ kind: 'burst', events, cycle: argumentCycle(events), callsTool: true }),
  },
  { pattern: /^paced-(\d+)x(\d+)$/, make: ([events, everyMs]) => ({ kind: 'paced', events, everyMs }) },
  { pattern: /^idle$/, make: () => ({ kind: 'idle', events: 1, cycle: PROSE_CYCLE }) },
  { pattern: /^cut-(\d+)$/, make: ([events]) => ({ kind: 'cut', events, cycle: PROSE_CYCLE }) },
  { pattern: /^refuse-(\d+)$/, make: ([status]) => ({ kind: 'refuse', status }) },
];

/**
 * @param {string} name
 * @returns {Script | undefined} undefined if no script has this name
 */
export function scriptNamed(name) {
  for (const { pattern, make } of FAMILIES) {
    const match = pattern.exec(name);
    if (match !== null) {
      return {
        kind: 'burst',
        events: 0,
        everyMs: 0,
        status: 200,
        isPacked: false,
        callsTool: false,
        cycle: [],
        ...make(match.slice(1).map(Number)),
      };
    }
  }
  return undefined;
}

/**
 * The whole text of a script that is not paced.
 *
 * @param {Script} script
 */
export function textOf({ cycle, events }) {
  const whole = Math.floor(events / cycle.length);
  return cycle.join('').repeat(whole) + cycle.slice(0, events % cycle.length).join('');
}

// The clock of `performance.now()` starts with its process. The offset to the system's monotonic clock makes the clocks of
// several processes comparable. The two clocks cannot be read at the same moment. Of 100 tries, the largest difference has
// the shortest time between the two readings.
const clockOffsetMs = Math.max(
  ...Array.from({ length: 100 }, () => Number(process.hrtime.bigint()) / 1e6 - performance.now()),
);

/** Milliseconds on a clock that all processes of this machine share. */
export const sharedNow = () => clockOffsetMs + performance.now();

/**
 * The text of a paced event: the number of the event in the stream, and the time of sending. All stamps have the same
 * length.
 */
export const stamp = (number) => `~${String(number).padStart(6, '0')}@${sharedNow().toFixed(3).padStart(16, '0')};`;
export const STAMP_LENGTH = stamp(0).length;
export const STAMPS = /~(\d{6})@(\d{12}\.\d{3});/g;
