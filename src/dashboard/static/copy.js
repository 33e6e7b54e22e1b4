/** Makes the buttons that say what they copy (`data-copies`, the id of an element) do so, and tell in the status beside them. */
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
    // Browsers keep the clipboard to pages that came over TLS, or from this machine.
    getSelection()?.selectAllChildren(source);
    status.textContent = 'Selected: copy it with your keyboard';
  }
}
