import { offerCopying } from './copy.js';

offerCopying();

// A page that answers a form is asked for anew, not sent anew, when it is reloaded.
if (document.querySelector('[data-new-key]')) history.replaceState(null, '', '/settings/api-keys');

// A second click would ask for the same key again, and hide the answer that shows it.
for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = 'true';
  });
}
// A page that comes back from the history may be sent again.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-once]')) delete form.dataset.sent;
});
