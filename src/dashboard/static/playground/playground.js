import { ChatClient } from '../client.js';
import { offerCopying } from '../copy.js';
import { Chat } from './chat.js';
import { CodeDialog } from './code/code-dialog.js';
import { Conversation } from './conversation.js';
import { element } from './elements.js';
import { asJson, asMarkdown, download } from './export.js';
import { PageStore } from './kept-page.js';
import { MessageBox } from './message-box.js';
import { Settings } from './settings.js';
import { EndFollower } from './turn/end-follower.js';
import { UndoNotice } from './undo-notice.js';

const form = element('ask', HTMLFormElement);
const buttons = {
  send: element('send', HTMLButtonElement),
  clear: element('clear', HTMLButtonElement),
  code: element('show-code', HTMLButtonElement),
  latest: element('latest', HTMLButtonElement),
  markdown: element('export-markdown', HTMLButtonElement),
  json: element('export-json', HTMLButtonElement),
};
const log = element('conversation', HTMLElement);
const announcer = element('announcer', HTMLElement);
const accountId = form.dataset['account'] ?? '';

const store = new PageStore(sessionStorage, accountId);
const settings = new Settings();
const message = new MessageBox(element('message', HTMLTextAreaElement), form);
const conversation = new Conversation();
const follower = new EndFollower(log, (isAtEnd) => (buttons.latest.hidden = isAtEnd));
const code = new CodeDialog();
/** @type {UndoNotice} */
const undo = new UndoNotice(element('undo', HTMLElement), ({ turns, draft }) => {
  if (draft !== undefined) message.undo(draft);
  chat.restore(turns);
});
const chat = new Chat({
  // Another tab may have signed in to another account: the service then refuses the requests of this page.
  client: new ChatClient({ baseUrl: '/api/v1', headers: { 'x-account-id': accountId } }),
  conversation,
  settings,
  message,
  log,
  follower,
  code,
  announce: (text) => (announcer.textContent = text),
  keptMs: Number(form.dataset['keptSeconds']) * 1000,
  whenRemoved: (removal) => undo.offer(removal),
  whenChanged: refresh,
});

function refresh() {
  const { isAnswering } = chat;
  const hadFocus = document.activeElement;
  buttons.send.disabled = false;
  buttons.send.textContent = isAnswering ? 'Stop' : 'Send';
  buttons.send.classList.toggle('secondary', isAnswering);
  for (const name of /** @type {const} */ (['clear', 'markdown', 'json']))
    buttons[name].disabled = conversation.isEmpty;
  // A disabled button loses the keyboard focus, and the browser would focus no other element.
  if (hadFocus instanceof HTMLButtonElement && hadFocus.disabled) message.focus();
  settings.showModelFacts();
  keep();
}

function keep() {
  store.save({ turns: conversation.turns, draft: message.text, settings: settings.values });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let keeping;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (chat.isAnswering) return;
  if (message.text.trim() === '') return message.focus();
  undo.withdraw();
  chat.send(message.take());
});
buttons.send.addEventListener('click', (event) => {
  if (!chat.isAnswering) return;
  event.preventDefault();
  // The second click of a double click on Send.
  if (event.detail > 1) return;
  chat.stop();
  message.focus();
});
document.addEventListener('keydown', ({ key, isComposing }) => {
  if (key === 'Escape' && !isComposing && chat.isAnswering && document.querySelector('dialog[open]') === null)
    chat.stop();
});
form.addEventListener('input', ({ target }) => {
  if (target === settings.fields.markdown) chat.showAs(settings.showsMarkdown);
  settings.showModelFacts();
  // To write a long conversation at each keystroke is expensive.
  clearTimeout(keeping);
  keeping = setTimeout(keep, 300);
});
buttons.clear.addEventListener('click', () => chat.clear());
buttons.latest.addEventListener('click', () => follower.goToEnd());
buttons.code.addEventListener('click', () => {
  const sent = message.text.trim() === '' ? conversation.last?.request : undefined;
  code.open(
    sent ?? settings.request(conversation.messages(settings.system, message.text || 'Hello!')),
    sent !== undefined,
  );
});
buttons.markdown.addEventListener('click', () => save(asMarkdown(conversation.turns), 'text/markdown', 'md'));
buttons.json.addEventListener('click', () => save(asJson(conversation.turns), 'application/json', 'json'));
document.querySelector('form[action="/sign-out"]')?.addEventListener('submit', () => store.clear());
window.addEventListener('pagehide', () => {
  chat.leave();
  keep();
});
// The browser has kept the page and shows it again. Its answer has stopped; the kept state says whether it goes on.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) chat.restore(store.restore().turns);
});

// Browsers that do not support the media query in the stylesheet show this notice although scripts run.
document.getElementById('without-script')?.remove();
offerCopying();
const kept = store.restore();
const goneModel = settings.restore(kept.settings);
fitVisiblePart();
// The user may have written something before this script ran.
if (message.text === '') message.text = kept.draft;
chat.restore(kept.turns);
if (goneModel !== undefined) announceGone(goneModel);

/** Some browsers lay the keyboard of a phone over the page. The page then has the height of the part that stays visible. */
function fitVisiblePart() {
  const { visualViewport } = window;
  visualViewport?.addEventListener('resize', () => {
    const isCovered = visualViewport.scale === 1 && visualViewport.height < innerHeight - 1;
    document.body.style.height = isCovered ? `${visualViewport.height}px` : '';
  });
}

/** @param {Parameters<typeof download>} file */
function save(...file) {
  element('export', HTMLDetailsElement).open = false;
  download(...file);
}

/** @param {string} id */
function announceGone(id) {
  const text = `${id} is no longer available. ${settings.modelName} is selected instead.`;
  settings.noteModel(text);
  announcer.textContent = text;
}
