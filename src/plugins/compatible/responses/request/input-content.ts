import type { ImageContent, TextContent } from '../../../../plugin-api/core/upstreams.js';
import { detailOf } from '../../shared/body-fields.js';
import type { Members } from '../../shared/members.js';

/** A content of a message, with its path in the body. */
export interface Piece<Content> {
  readonly content: Content;
  readonly path: string;
}

const TEXT_TYPES: ReadonlySet<string> = new Set([
  ...['input_text', 'output_text', 'text', 'summary_text', 'reasoning_text'],
]);

/** Reads the content of a message or of a result: a string, or an array of parts. Parts without any text are left out. */
export function piecesOf(item: Members, name: string): Piece<TextContent | ImageContent>[] {
  const content = item.required(name, item.any(name));
  if (typeof content === 'string') return textPiece(content, item.at(name));
  const parts = item.objects(name);
  if (parts === undefined) throw item.refused(name, 'must be a string or an array');
  return parts.flatMap((part): Piece<TextContent | ImageContent>[] => {
    if (part.requiredText('type') === 'input_image') return [{ content: imageOf(part), path: part.path }];
    return textPiece(textOf(part), part.path);
  });
}

/** As {@link piecesOf}, for a content that cannot have images. */
export function textPiecesOf(item: Members, name: string): Piece<TextContent>[] {
  return piecesOf(item, name).map(({ content, path }) => {
    if (content.type === 'text') return { content, path };
    throw item.refused(name, 'must be text: images are possible in messages of the user and in results of tools');
  });
}

/** Joins the texts of a list of parts, such as a summary. */
export function joinedTexts(item: Members, name: string): string {
  const texts = (item.objects(name) ?? []).map((part) => textOf(part));
  return texts.filter((text) => text !== '').join('\n\n');
}

function textPiece(text: string, path: string): Piece<TextContent>[] {
  return text === '' ? [] : [{ content: { type: 'text', text }, path }];
}

function textOf(part: Members): string {
  const type = part.requiredText('type');
  if (TEXT_TYPES.has(type)) return part.requiredText('text');
  if (type === 'refusal') return part.requiredText('refusal');
  throw part.refused('type', 'must be input_text, input_image, output_text or refusal');
}

function imageOf(part: Members): ImageContent {
  const url = part.text('image_url');
  if (url === undefined) {
    throw part.refused('image_url', 'must be a data URL or an https URL, because the service keeps no files');
  }
  return { type: 'image', url, ...detailOf(part) };
}
