import { offerCopying } from './copy.js';

offerCopying();

// A page with a new secret is the answer to a form. Reloading it must open the page that follows, and not send the form again.
const next = document.querySelector('[data-shown-once]')?.getAttribute('data-shown-once');
if (next != null) history.replaceState(null, '', next);
