import { ChatClient } from '../client.js';
import { offerCopying } from '../copy.js';
import { Chat } from './chat.js';
import { Conversation } from './conversation.js';
import { CurlPanel } from './curl/curl-panel.js';
import { EndFollower } from './turn/end-follower.js';
import { MessageBox } from './message-box.js';
import { showModelLimits } from './model-limits.js';
import { Settings } from './settings.js';

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} "${id}".`);
  return found;
}

const form = element('ask', HTMLFormElement);
const fields = {
  model: element('model', HTMLSelectElement),
  system: element('system', HTMLTextAreaElement),
  temperature: element('temperature', HTMLInputElement),
  maxTokens: element('max-tokens', HTMLInputElement),
};
const hints = {
  maxTokens: element('max-tokens-hint', HTMLElement),
  temperature: element('temperature-hint', HTMLElement),
};
const buttons = {
  send: element('send', HTMLButtonElement),
  stop: element('stop', HTMLButtonElement),
  clear: element('clear', HTMLButtonElement),
};
const log = element('conversation', HTMLElement);

const accountId = form.dataset['account'] ?? '';
const settings = new Settings(fields, accountId, sessionStorage);
const message = new MessageBox(element('message', HTMLTextAreaElement), form);
const conversation = new Conversation();
const chat = new Chat({
  // Another tab may have signed in to another account: the service then refuses the requests of this page.
  client: new ChatClient({ baseUrl: '/api/v1', headers: { 'x-account-id': accountId } }),
  conversation,
  settings,
  message,
  log,
  follower: new EndFollower(log),
  announcer: element('announcer', HTMLElement),
  whenChanged: refresh,
});
const curl = new CurlPanel(
  element('curl', HTMLDetailsElement),
  element('curl-command', HTMLElement),
  // The request that Send would send. While the box is empty, the request with the last question.
  () => settings.request(conversation.messages(settings.system, message.text || chat.lastQuestion || 'Hello!')),
);

function refresh() {
  const { isAnswering } = chat;
  const hadFocus = document.activeElement;
  buttons.send.disabled = isAnswering;
  buttons.stop.disabled = !isAnswering;
  buttons.clear.disabled = conversation.isEmpty;
  // A disabled button loses the keyboard focus, and the browser would focus no other element.
  if (hadFocus instanceof HTMLButtonElement && hadFocus.disabled) message.focus();
  curl.refresh();
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!chat.isAnswering && message.text.trim() !== '') chat.send(message.take());
  else message.focus();
});
form.addEventListener('input', () => {
  settings.keep();
  showModelLimits(fields, hints);
  curl.refresh();
});
buttons.stop.addEventListener('click', () => chat.stop());
buttons.clear.addEventListener('click', () => chat.clear());
// The user has left the page. The browser may keep the page and restore it later, and it must then show its true state.
window.addEventListener('pagehide', () => chat.stop());

// Browsers that do not support the media query in the stylesheet show this notice although scripts run.
document.getElementById('without-script')?.remove();
offerCopying();
settings.restore();
showModelLimits(fields, hints);
refresh();
