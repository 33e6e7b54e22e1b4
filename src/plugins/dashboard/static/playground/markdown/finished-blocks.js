import { create } from '../elements.js';

/** The time in milliseconds that a step may take. */
const STEP_MS = 8;
/** The number of characters above which code keeps one color. */
const MAX_CODE = 20_000;
/** A frame gets the colors of code up to the next line break after this number of characters: the browser lays out the spans. */
const COLORED_PIECE = 4_000;
/** Above these bounds the TeX stays. KaTeX stops at the number of expanded macros, and the sizes are in em. */
const BOUNDS = { maxSize: 20, maxExpand: 500 };

/** The code and formulas that are waiting. @type {HTMLElement[]} */
const waiting = [];
/** @type {Promise<void> | undefined} */
let running;

/**
 * Adds colors to the code of blocks, and draws their formulas. Call this once for each block, after its last change. The libraries
 * load with the first block that needs them. A block without its library stays as it is.
 *
 * @param {readonly HTMLElement[]} blocks
 */
export function finishBlocks(blocks) {
  for (const block of blocks) {
    if (block.matches('.math')) waiting.push(block);
    waiting.push(...block.querySelectorAll(/** @type {'code'} */ ('pre code[data-language], .math')));
  }
  if (waiting.length > 0) running ??= finishWaiting().finally(() => (running = undefined));
}

async function finishWaiting() {
  for (let begin = performance.now(), next; (next = waiting.shift()) !== undefined;) {
    try {
      if (next.matches('.math')) await drawFormula(next);
      else await colorCode(next);
    } catch {
      // The library has not loaded, or cannot read the text.
    }
    if (performance.now() - begin < STEP_MS) continue;
    await nextFrame();
    begin = performance.now();
  }
}

/** @param {HTMLElement} code */
async function colorCode(code) {
  const { language = '' } = code.dataset;
  const text = code.textContent;
  if (text.length > MAX_CODE) return;
  const { default: highlighter } = await import('../../vendor/highlight.js');
  if (highlighter.getLanguage(language) === undefined) return;
  const { value } = highlighter.highlight(text, { language, ignoreIllegals: true });
  const nodes = spansOf(new DOMParser().parseFromString(`<body>${value}`, 'text/html').body);
  let rest = text;
  for (let plain = [...code.children]; nodes.length > 0;) {
    const colored = create('span', 'piece', ...pieceOf(nodes));
    rest = rest.slice(colored.textContent.length);
    for (const old of plain) old.remove();
    plain = rest === '' ? [] : [create('span', 'piece', rest)];
    code.append(colored, ...plain);
    if (rest !== '') await nextFrame();
  }
}

/**
 * Takes the nodes of a piece from the beginning of all nodes.
 *
 * @param {Node[]} nodes
 */
function pieceOf(nodes) {
  const piece = [];
  for (let length = 0, node; (node = nodes.shift()) !== undefined; length += node.textContent?.length ?? 0) {
    piece.push(node);
    if (length < COLORED_PIECE || !(node instanceof Text)) continue;
    const lineEnd = node.data.indexOf('\n') + 1;
    if (lineEnd === 0) continue;
    if (lineEnd < node.length) nodes.unshift(node.splitText(lineEnd));
    break;
  }
  return piece;
}

/** Browsers draw no frames for a page in the background. */
function nextFrame() {
  return new Promise((resolve) => {
    if (document.hidden) setTimeout(resolve);
    else requestAnimationFrame(() => setTimeout(resolve));
  });
}

/**
 * Copies the texts and the classes of spans, and nothing else.
 *
 * @param {Node} parent
 * @returns {Node[]}
 */
function spansOf(parent) {
  return [...parent.childNodes].map((node) => {
    if (!(node instanceof Element)) return document.createTextNode(node.textContent ?? '');
    return create('span', node.className, ...spansOf(node));
  });
}

/** @param {HTMLElement} element */
async function drawFormula(element) {
  const { default: katex } = await import('../../vendor/katex.js');
  const drawn = create('span');
  // Browsers draw MathML without a stylesheet or fonts.
  katex.render(element.dataset['tex'] ?? '', drawn, {
    output: 'mathml',
    displayMode: element.dataset['display'] === 'true',
    trust: false,
    strict: 'ignore',
    errorColor: 'currentcolor',
    ...BOUNDS,
  });
  element.replaceChildren(...drawn.childNodes);
}
