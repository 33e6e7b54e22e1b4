import { Logger } from '@nestjs/common';

/** Returns `undefined` for a part of a page that fails, and logs the error. The other parts are still shown. */
export async function optionalPart<T>(part: Promise<T>): Promise<T | undefined> {
  try {
    return await part;
  } catch (error) {
    new Logger('Pages').error(error);
    return undefined;
  }
}
