/** @typedef {import('./conversation.js').Turn} Turn */

/**
 * The conversation as Markdown. Answers are Markdown already, so they stay as they are.
 *
 * @param {readonly Turn[]} turns
 */
export function asMarkdown(turns) {
  return turns
    .map(({ question, answer, modelName, state }) => {
      const incomplete = state === 'complete' ? '' : '\n\n_This answer is incomplete._';
      return `## You\n\n${question}\n\n## ${modelName}\n\n${answer}${incomplete}\n`;
    })
    .join('\n');
}

/**
 * The conversation as JSON, with the requests as they were sent, and the receipts.
 *
 * @param {readonly Turn[]} turns
 */
export function asJson(turns) {
  return `${JSON.stringify({ exported_at: new Date().toISOString(), turns }, null, 2)}\n`;
}

/**
 * Saves a text as a file of the user.
 *
 * @param {string} text
 * @param {string} type
 * @param {string} extension
 */
export function download(text, type, extension) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `conversation-${new Date().toISOString().slice(0, 10)}.${extension}`;
  link.click();
  URL.revokeObjectURL(url);
}
