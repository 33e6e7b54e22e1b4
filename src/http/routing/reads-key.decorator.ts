import { SetMetadata } from '@nestjs/common';

export const READS_KEY = Symbol('READS_KEY');

/**
 * Makes a `@Public()` route read the credential of a request that has one, for example to show only what an API key may use. A
 * credential that is invalid or cannot be checked counts as none.
 */
export const ReadsKey = (): MethodDecorator & ClassDecorator => SetMetadata(READS_KEY, true);
