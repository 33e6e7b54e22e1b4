/**
 * The parts from which the element of a block is built: the items of a list, the rows of a table, or the nodes of a text.
 *
 * @param {HTMLElement} element
 */
export function partsOf(element) {
  const parent = element.querySelector(':scope > table > tbody') ?? element;
  return { parent, parts: /** @type {ChildNode[]} */ ([...parent.childNodes]) };
}
