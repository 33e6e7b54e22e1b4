// Loaded before the service by NODE_OPTIONS=--import: its clock is wrong by CLOCK_SHIFT_MS.
const shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const RightDate = Date;

globalThis.Date = class Date extends RightDate {
  constructor(...parameters) {
    if (parameters.length === 0) super(RightDate.now() + shiftMs);
    else super(...parameters);
  }

  static now() {
    return RightDate.now() + shiftMs;
  }
};
