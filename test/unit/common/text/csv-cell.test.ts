import { expect, it } from 'vitest';
import { csvCell } from '../../../../src/common/text/csv-cell.js';

it.each(['=1', '+1', '-1', '@a', '\ta'])(
  'a text that a spreadsheet reads as a formula has an apostrophe: %j',
  (text) => {
    expect(csvCell(text)).toBe(`'${text}`);
  },
);

it('a cell that begins with a line end has an apostrophe and quotes', () => {
  expect(csvCell('\r"')).toBe(`"'\r"""`);
});
