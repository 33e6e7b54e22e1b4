/** Lets a pointer, a finger or the arrow keys choose a day of a chart, and shows the values of the day below the chart. */
for (const chart of document.querySelectorAll('.chart')) {
  const drawing = chart.querySelector('svg[role=img]');
  const readout = chart.querySelector('.chart-readout');
  if (!(drawing instanceof SVGElement) || readout === null) continue;
  const days = [...drawing.querySelectorAll('.day')];
  let chosen = days.length;

  /** @param {number} index */
  const choose = (index) => {
    days[chosen]?.classList.remove('chosen');
    chosen = Math.max(0, Math.min(days.length - 1, index));
    const day = days[chosen];
    day?.classList.add('chosen');
    readout.textContent = day?.querySelector('title')?.textContent ?? '';
  };
  /** @param {PointerEvent} event */
  const chooseAt = ({ clientX }) => {
    const { left, width } = drawing.getBoundingClientRect();
    choose(Math.floor(((clientX - left) / width) * days.length));
  };
  drawing.tabIndex = 0;
  drawing.addEventListener('pointermove', chooseAt);
  drawing.addEventListener('pointerdown', chooseAt);
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
