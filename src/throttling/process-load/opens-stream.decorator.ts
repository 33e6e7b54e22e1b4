import { SetMetadata } from '@nestjs/common';

export const OPENS_STREAM = 'opens-stream';

/**
 * Marks a route that answers with a long stream. The route answers 503 `unavailable` while the process has MAX_STREAMS open
 * streams or is overloaded. The route must also be `@LimitedByTier()`.
 *
 * @since 1.0
 */
export const OpensStream = (): MethodDecorator & ClassDecorator => SetMetadata(OPENS_STREAM, true);
