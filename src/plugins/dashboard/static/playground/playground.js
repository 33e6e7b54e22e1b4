import { ChatClient } from '../client.js';
import { offerCopying } from '../copy.js';
import { Attachments } from './attachments.js';
import { Chat } from './chat.js';
import { CodeDialog } from './code-dialog.js';
import { asJson, asMarkdown } from './conversation-export.js';
import { Conversation } from './conversation.js';
import { download, element } from './elements.js';
import { ConversationStore } from './history/conversation-store.js';
import { HistoryDialog } from './history/history-dialog.js';
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
const undo = new UndoNotice(element('undo', HTMLElement), ({ kept, draft }) => {
  if (draft !== undefined) {
    message.undo(draft);
    attachments.restore([]);
  }
  chat.restore(kept);
});
const attachments = new Attachments(message, settings, (text) => undo.tell(text));
const chat = new Chat({
  // Another tab may have signed in to another account: the service then refuses the requests of this page.
  client: new ChatClient({ baseUrl: '/api/v1', headers: { 'x-account-id': accountId } }),
  accountId,
  conversation,
  settings,
  message,
  attachments,
  log,
  follower,
  code,
  announce: (text) => (announcer.textContent = text),
  keptMs: Number(form.dataset['keptSeconds']) * 1000,
  whenRemoved: (removal) => undo.offer(removal),
  whenChanged: refresh,
});

const history = new ConversationStore(accountId);
new HistoryDialog(history, {
  currentId: () => conversation.id,
  open,
  startNew: open,
  forget: () => {
    undo.withdraw();
    chat.forget();
  },
});

/** @param {import('./history/conversation-store.js').KeptConversation} [kept] nothing for a new conversation */
function open(kept) {
  undo.withdraw();
  chat.restore(kept);
  message.focus();
}

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
  // Without the permission to store, the conversation ends with the page.
  if (!isSigningOut) history.save(conversation.kept).catch(() => undefined);
  keepPage();
}

function keepPage() {
  store.save({ conversation: conversation.kept, draft: message.text, settings: settings.values });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let keeping;
let isSigningOut = false;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (chat.isAnswering) return;
  if (message.text.trim() === '' && attachments.images.length === 0) return message.focus();
  const problem = settings.toolsProblem ?? attachments.problemWith();
  if (problem !== undefined) return undo.tell(problem);
  undo.withdraw();
  chat.send(message.take(), attachments.takeImages());
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
  keeping = setTimeout(keepPage, 300);
});
buttons.clear.addEventListener('click', () => {
  const { id } = conversation;
  chat.clear();
  history.delete(id).catch(() => undefined);
});
buttons.latest.addEventListener('click', () => follower.goToEnd());
buttons.code.addEventListener('click', () => {
  if (settings.toolsProblem !== undefined) return undo.tell(settings.toolsProblem);
  const sent = message.text.trim() === '' ? conversation.last?.request : undefined;
  code.open(sent ?? settings.request(conversation.messages(settings.system, draft())), sent !== undefined);
});
buttons.markdown.addEventListener('click', () => save(asMarkdown(conversation), 'text/markdown', 'md'));
buttons.json.addEventListener('click', () => save(asJson(conversation), 'application/json', 'json'));
document.querySelector('form[action="/sign-out"]')?.addEventListener('submit', () => {
  isSigningOut = true;
  store.clear();
  history.deleteAll().catch(() => undefined);
});
window.addEventListener('pagehide', () => {
  chat.leave();
  keep();
});
// The browser has kept the page and shows it again. Its answer has stopped; the kept state says whether it goes on.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) chat.restore(store.restore().conversation);
});

// Browsers that do not support the media query in the stylesheet show this notice although scripts run.
document.getElementById('without-script')?.remove();
offerCopying();
const kept = store.restore();
const goneModel = settings.restore(kept.settings);
fitVisiblePart();
// The user may have written something before this script ran.
if (message.text === '') message.text = kept.draft;
chat.restore(kept.conversation ?? (await history.find(kept.conversationId)));
if (goneModel !== undefined) announceGone(goneModel);

/** The message that Send would send now. */
function draft() {
  const { images } = attachments;
  return { question: message.text || (images.length === 0 ? 'Hello!' : ''), images };
}

/** Some browsers lay the keyboard of a phone over the page. The page then has the height of the part that stays visible. */
function fitVisiblePart() {
  const { visualViewport } = window;
  visualViewport?.addEventListener('resize', () => {
    const isCovered = visualViewport.scale === 1 && visualViewport.height < innerHeight - 1;
    document.body.style.height = isCovered ? `${visualViewport.height}px` : '';
  });
}

/** @param {[text: string, type: string, extension: string]} file */
function save(...file) {
  element('export', HTMLDetailsElement).open = false;
  download('conversation', ...file);
}

/** @param {string} id */
function announceGone(id) {
  const text = `${id} cannot be used now. ${settings.modelName} is selected instead.`;
  settings.noteModel(text);
  announcer.textContent = text;
}
