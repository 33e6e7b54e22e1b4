import { SetMetadata } from '@nestjs/common';

export const OPENS_STREAM = 'opens-stream';

/**
 * A route that answers with a stream for as long as it takes. It is refused with 503 `unavailable` while the process holds
 * MAX_STREAMS of them, or has too much to do. The route must be `@LimitedByTier()`, too.
 */
export const OpensStream = (): MethodDecorator & ClassDecorator => SetMetadata(OPENS_STREAM, true);
