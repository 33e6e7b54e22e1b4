import { expect, it } from 'vitest';
import { csvCell } from '../../../../../src/platform/common/text/csv-cell.js';

it.each(['=1', '+1', '-1', '@a', '\uff1d1', '\uff0b1', '\uff0d1', '\uff20a'])(
  'a text that a spreadsheet reads as a formula has an apostrophe: %j',
  (text) => {
    expect(csvCell(text)).toBe(`'${text}`);
  },
);

it('a cell that begins with a tab has an apostrophe and quotes', () => {
  expect(csvCell('\ta')).toBe(`"'\ta"`);
});

it('a text has an apostrophe where a spreadsheet with another separator would begin a formula', () => {
  expect(csvCell('a;=1')).toBe(`"a;'=1"`);
  expect(csvCell('a; "\uff1d1;b\t-1\n+1')).toBe(`"a; ""'\uff1d1;b\t'-1\n'+1"`);
  expect(csvCell('a;b-c')).toBe('"a;b-c"');
});

it('a cell that begins with a line end has an apostrophe and quotes', () => {
  expect(csvCell('\r"')).toBe(`"'\r"""`);
});
