/** Several forms on one page, of the desk or of an account: each names itself and says what it was based on. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Form, useActionData, useNavigation } from "react-router";
import { TextField } from "~/components/field";
import { type FormField, Problems, type Refused, SubmitButton, useActionForm } from "~/components/form";

/** What the action of such a page answers for a refused form: `form` is its id, `request` what it was sent with. */
export type RefusedAct = Refused & { form?: string; request?: string };

/**
 * The id that makes a form sent twice one act. A refused form keeps its own: if it was acted on after all, and the answer
 * was lost, sending it again finds that.
 */
export function requestOf(answer: RefusedAct | undefined, fresh: string): string {
  return answer?.request ?? fresh;
}

/** An act form: its fields as the server judged them, and what ActForm needs. `target` tells forms of one act apart. */
export function useAct<const Name extends string>(
  act: string,
  answer: RefusedAct | undefined,
  names: readonly Name[],
  target = "",
) {
  const id = target ? `${act}-${target}` : act;
  const refused = answer?.form === id ? answer : undefined;
  const [, fields] = useActionForm(id, refused, names);
  return { id, act, refused, fields };
}

/** A field that shows what is stored until a refused form brings back what was typed. */
export function showing(field: FormField, refused: Refused | undefined, stored: string): FormField {
  return refused?.result ? field : { ...field, value: stored };
}

/**
 * The form of an act. `seen` is the version of what it changes; `request` makes the same form sent twice one act. `action`
 * is another address than the page's own.
 */
export function ActForm(props: {
  id: string;
  act: string;
  seen?: number;
  request?: string;
  action?: string;
  className?: string;
  children: ReactNode;
}) {
  const { id, act, seen, request, action, className, children } = props;
  const emptied = useEmptied(id);
  return (
    <Form key={emptied} method="post" action={action} id={id} noValidate preventScrollReset className={className}>
      <input type="hidden" name="act" value={act} />
      <input type="hidden" name="form" value={id} />
      {seen !== undefined && <input type="hidden" name="seen" value={seen} />}
      {request && <input type="hidden" name="request" value={request} />}
      {children}
    </Form>
  );
}

/**
 * Counts how often the form was sent and taken: as a key of it, it makes the form as new, while other forms of the page keep
 * what was typed. Its fold is shut. Without script the page is another one then.
 */
function useEmptied(id: string): number {
  const [count, setCount] = useState(0);
  const { state, formData } = useNavigation();
  const answer = useActionData() as RefusedAct | undefined;
  const isUnderWay = state !== "idle" && formData?.get("form") === id;
  const wasUnderWay = useRef(false);
  useEffect(() => {
    const isTaken = wasUnderWay.current && !isUnderWay && answer?.form !== id;
    wasUnderWay.current = isUnderWay;
    if (!isTaken) return;
    document.getElementById(id)?.closest("details")?.removeAttribute("open");
    setCount((times) => times + 1);
  }, [isUnderWay, answer, id]);
  return count;
}

/** Above the h1 of such a page: the toast, and what is wrong with the form that was sent. */
export function ActProblems({ answer }: { answer: RefusedAct | undefined }) {
  const problems = Object.entries(answer?.result?.error ?? {}).flatMap(([name, errors]) =>
    (errors ?? []).map((text) => ({ id: `${answer?.form}-${name}`, text })),
  );
  const words = answer?.toast?.description;
  if (problems.length === 0 && words) problems.push({ id: answer?.form ?? "", text: words });
  return <Problems answer={answer} problems={problems} />;
}

/** What is seldom needed: folded under a line that names it, open when its form was refused. */
export function Folded({ title, open, children }: { title: ReactNode; open: boolean; children: ReactNode }) {
  return (
    <details open={open} className="px-4 pb-2 open:pb-4">
      <summary className="inline-flex min-h-11 cursor-pointer items-center text-sm underline">{title}</summary>
      {children}
    </details>
  );
}

/**
 * An act that asks for a reason first, folded under its title. `of` names what it acts on to who cannot see the page;
 * `on` is the field that says which of several it is.
 */
export function ReasonForm(props: {
  act: string;
  title: string;
  of?: string;
  text?: string;
  hint?: string;
  on?: Record<string, string>;
  seen?: number;
  request?: string;
  answer: RefusedAct | undefined;
}) {
  const { act, title, of, text, hint, on = {}, seen, request, answer } = props;
  const { id, fields, refused } = useAct(act, answer, ["reason"], Object.values(on)[0]);
  const words = (
    <span>
      {title}
      {of && <span className="sr-only">{of}</span>}
    </span>
  );
  return (
    <Folded title={words} open={refused !== undefined}>
      {text && <p className="mb-3 text-sm text-quiet">{text}</p>}
      <ActForm id={id} act={act} seen={seen} request={request}>
        {Object.entries(on).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <TextField field={fields.reason} label="Reason" hint={hint} rows={2} mandatory />
        <SubmitButton look="plain" pending="Saving…">
          {words}
        </SubmitButton>
      </ActForm>
    </Folded>
  );
}
