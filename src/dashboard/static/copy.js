/**
 * Makes the copy buttons work. The attribute `data-copies` of a button holds the id of the element to copy. The status element
 * next to the button shows the result.
 */
export function offerCopying(root = document) {
  for (const button of root.querySelectorAll('button')) {
    const source = document.getElementById(button.dataset['copies'] ?? '');
    if (source === null) continue;
    button.addEventListener('click', () => void copy(source, button));
  }
}

/**
 * @param {HTMLElement} source
 * @param {HTMLButtonElement} button
 */
async function copy(source, button) {
  const status = button.parentElement?.querySelector('[role=status]');
  if (status == null) return;
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    status.textContent = 'Copied';
  } catch {
    // Browsers allow clipboard access only to pages served over TLS or from the same machine.
    getSelection()?.selectAllChildren(source);
    status.textContent = 'Selected: press Ctrl+C or ⌘C to copy';
  }
}
