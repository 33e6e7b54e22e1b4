import './shown-once.js';

// A second click would send the same key id again. The service refuses the id, and the browser would show the error instead of
// the answer with the new key.
for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = 'true';
  });
}
// The user may send the form again after returning to the page through the browser history.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-once]')) delete form.dataset.sent;
});
