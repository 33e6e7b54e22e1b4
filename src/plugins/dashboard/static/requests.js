// Lists show their times in the time zone of the browser, so the filter reads times in it, too. Addresses have UTC.

/** `14:03`, `14:03:05`, `2026-11-26` or `2026-11-26 14:03:05`. A time with a zone stays as it is. */
const WRITTEN = /^(\d{4}-\d\d-\d\d)?(?:^|[ T]|$)(?:(\d\d?):(\d\d)(:\d\d)?)?$/;

/**
 * @param {string} text
 * @param {boolean} isLocal whether the text is in the time zone of the browser. The result is in the other zone.
 * @param {string} clock the time of a text that has only a day
 */
function inOtherZone(text, isLocal, clock) {
  const [whole, day, hour, minute, second = ''] = WRITTEN.exec(text.trim()) ?? [];
  if (!whole) return text;
  const time = hour === undefined ? clock : `${hour.padStart(2, '0')}:${minute}${second}`;
  const moment = new Date(`${day ?? today()}T${time}${isLocal ? '' : 'Z'}`);
  if (Number.isNaN(moment.getTime())) return text;
  const iso = (isLocal ? moment : asIfUtc(moment)).toISOString();
  return `${day === undefined ? '' : `${iso.slice(0, 10)} `}${iso.slice(11, second === '' ? 16 : 19)}`;
}

/** The moment whose time in UTC is the local time of this one. @param {Date} moment */
const asIfUtc = (moment) => new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);

const today = () => asIfUtc(new Date()).toISOString().slice(0, 10);

/** The name of the time zone, such as `CET`. */
const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' })
  .formatToParts(new Date())
  .find(({ type }) => type === 'timeZoneName')?.value;

for (const [name, clock] of [
  ['from', '00:00'],
  ['to', '23:59'],
]) {
  const field = document.querySelector(`input[name="${name}"]`);
  const label = document.querySelector(`label[for="${name}"]`);
  if (!(field instanceof HTMLInputElement) || label === null || zone === undefined || zone === 'UTC') continue;
  label.textContent = label.textContent?.replace('UTC', zone) ?? '';
  field.value = inOtherZone(field.value, false, clock);
  field.form?.addEventListener('formdata', ({ formData }) => {
    formData.set(name, inOtherZone(field.value, true, clock));
  });
}
