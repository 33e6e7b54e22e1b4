import type { ImageContent } from '../../../upstreams/contract/conversation.js';
import type { Members } from './members.js';

export const DETAILS = ['auto', 'low', 'high', 'original'] as const;

/** Reads the member `detail` of an image. `original` has the effect of `high`. @throws {ServiceError} `invalid_request`. */
export function detailOf(image: Members): Pick<ImageContent, 'detail'> {
  const detail = image.oneOf('detail', DETAILS);
  return detail === undefined ? {} : { detail: detail === 'original' ? 'high' : detail };
}
