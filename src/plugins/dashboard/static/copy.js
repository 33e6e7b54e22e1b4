/**
 * Makes the copy buttons work. The attribute `data-copies` of a button holds the id of the element to copy. The status element
 * next to the button shows the result.
 */
export function offerCopying() {
  for (const button of document.querySelectorAll('button')) {
    const source = document.getElementById(button.dataset['copies'] ?? '');
    const status = button.parentElement?.querySelector('[role=status]');
    if (source === null || status == null) continue;
    button.addEventListener('click', () => void copy(source, status));
  }
}

/**
 * Copies the text of an element. Selects the text where this is not allowed.
 *
 * @param {HTMLElement} source
 * @param {Element} status shows the result
 */
export async function copy(source, status) {
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    status.textContent = 'Copied';
  } catch {
    // Browsers allow clipboard access only to pages served over TLS or from the same machine.
    getSelection()?.selectAllChildren(source);
    status.textContent = 'Selected: press Ctrl+C or ⌘C to copy';
  }
}
