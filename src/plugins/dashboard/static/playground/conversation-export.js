/**
 * @typedef {import('./conversation.js').Conversation} Conversation
 * @typedef {import('./conversation.js').Turn} Turn
 */

/** The conversation as Markdown. Answers are Markdown already, so they stay as they are. @param {Conversation} conversation */
export function asMarkdown(conversation) {
  return conversation.turns
    .map((turn) => {
      const images = turn.images.map((_, index) => `[Image ${index + 1}]\n\n`).join('');
      const answers = withBeside(conversation, turn).map((one) => answerMarkdown(one));
      return `## You\n\n${images}${turn.question}\n\n${answers.join('\n\n')}\n`;
    })
    .join('\n');
}

/** @param {Turn} turn */
function answerMarkdown({ answer, calls, modelName, state }) {
  const called = calls.map(({ function: { name, arguments: json }, result }) => {
    const returned = result === undefined ? '' : `\n\nResult: ${result}`;
    return `\n\nCall of \`${name}\`:\n\n\`\`\`json\n${json}\n\`\`\`${returned}`;
  });
  const incomplete = state === 'complete' ? '' : '\n\n_This answer is incomplete._';
  return `## ${modelName}\n\n${answer}${called.join('')}${incomplete}`;
}

/** The conversation as JSON, with the requests as they were sent, and the receipts. @param {Conversation} conversation */
export function asJson(conversation) {
  const turns = conversation.turns.flatMap((turn) => withBeside(conversation, turn));
  return `${JSON.stringify({ exported_at: new Date().toISOString(), turns }, null, 2)}\n`;
}

/**
 * The turn, and the one with the answer of another model to the same question.
 *
 * @param {Conversation} conversation
 * @param {Turn} turn
 */
function withBeside(conversation, turn) {
  const other = conversation.besideOf(turn);
  return other === undefined ? [turn] : [turn, other];
}
