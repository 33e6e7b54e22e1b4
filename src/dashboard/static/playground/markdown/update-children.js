/**
 * Replaces elements on the page by new ones, and leaves everything alone that is equal: the user may have selected it.
 *
 * @template {Node} T
 * @param {Node} parent
 * @param {readonly T[]} shown the last children of the parent
 * @param {readonly T[]} fresh
 * @returns {T[]} the last children of the parent now
 */
export function updateChildren(parent, shown, fresh) {
  for (const surplus of shown.slice(fresh.length)) parent.removeChild(surplus);
  return fresh.map((node, index) => {
    const old = shown[index];
    if (old === undefined) return parent.appendChild(node);
    if (update(old, node)) return old;
    parent.replaceChild(node, old);
    return node;
  });
}

/**
 * @param {Node} old
 * @param {Node} fresh
 * @returns {boolean} whether the old node equals the new one now
 */
function update(old, fresh) {
  if (old.isEqualNode(fresh)) return true;
  if (old instanceof Text && fresh instanceof Text && fresh.data.startsWith(old.data)) {
    old.appendData(fresh.data.slice(old.length));
    return true;
  }
  if (!(old instanceof Element) || !old.cloneNode(false).isEqualNode(fresh.cloneNode(false))) return false;
  updateChildren(old, [...old.childNodes], [...fresh.childNodes]);
  return true;
}
