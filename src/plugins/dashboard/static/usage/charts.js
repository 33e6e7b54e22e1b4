/**
 * Lets a pointer, a finger or the arrow keys choose a bar of a chart, and shows the values of the bar in a box next to the bar.
 *
 * @param {ParentNode} root
 */
export function offerReadouts(root = document) {
  for (const chart of root.querySelectorAll('.chart')) {
    const drawing = chart.querySelector('svg[role=img]');
    const readout = chart.querySelector('.chart-readout');
    if (!(drawing instanceof SVGElement) || !(readout instanceof HTMLElement)) continue;
    const days = [...drawing.querySelectorAll('.day')];
    let chosen = days.length;

    /** @param {number} index */
    const choose = (index) => {
      days[chosen]?.classList.remove('chosen');
      chosen = Math.max(0, Math.min(days.length - 1, index));
      const day = days[chosen];
      day?.classList.add('chosen');
      readout.textContent = day?.querySelector('title')?.textContent ?? '';
      if (day !== undefined) placeBeside(readout, day, drawing);
    };
    const chooseNone = () => {
      days[chosen]?.classList.remove('chosen');
      chosen = days.length;
      readout.textContent = '';
    };
    /** @param {PointerEvent} event */
    const chooseAt = ({ clientX }) => {
      const { left, width } = drawing.getBoundingClientRect();
      choose(Math.floor(((clientX - left) / width) * days.length));
    };
    drawing.tabIndex = 0;
    drawing.addEventListener('pointermove', chooseAt);
    drawing.addEventListener('pointerdown', chooseAt);
    drawing.addEventListener('pointerleave', ({ pointerType }) => {
      // A finger leaves the drawing when it is lifted.
      if (pointerType === 'mouse' && document.activeElement !== drawing) chooseNone();
    });
    drawing.addEventListener('blur', chooseNone);
    drawing.addEventListener('keydown', (event) => {
      const targets = new Map([
        ['ArrowLeft', chosen - 1],
        ['ArrowRight', chosen + 1],
        ['Home', 0],
        ['End', days.length - 1],
      ]);
      const index = targets.get(event.key);
      if (index === undefined) return;
      event.preventDefault();
      choose(index);
    });
  }
}

/**
 * Puts the box on the side of the bar that has more space, at the height of its upper end.
 *
 * @param {HTMLElement} box
 * @param {Element} day
 * @param {SVGElement} drawing
 */
function placeBeside(box, day, drawing) {
  const frame = drawing.getBoundingClientRect();
  const column = day.getBoundingClientRect();
  const tops = [...day.querySelectorAll('rect:not(.column)')].map((bar) => bar.getBoundingClientRect().top);
  const isOnTheRight = column.left + column.right < frame.left + frame.right;
  box.style.left = isOnTheRight ? `${column.right - frame.left}px` : '';
  box.style.right = isOnTheRight ? '' : `${frame.right - column.left}px`;
  const top = Math.min(frame.bottom, ...tops) - frame.top;
  box.style.top = `${Math.max(0, Math.min(top, frame.height - box.offsetHeight))}px`;
}

offerReadouts();
