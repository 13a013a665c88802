import { type ComponentProps, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { useIsHydrated } from "../ui/hydration";
import type { FormField } from "./form";

type LabelledFieldProps = { field: FormField; label: string; hint?: string };

type FieldProps = LabelledFieldProps & {
  type?: "text" | "email" | "password" | "tel" | "date" | "month" | "search";
  optional?: boolean;
  /** True if the input must be empty after a rejected submission, as for passwords and codes. */
  clearOnError?: boolean;
  children?: ReactNode;
} & Pick<ComponentProps<"input">, "autoComplete" | "inputMode" | "autoCapitalize" | "spellCheck">;

export function Field({ field, label, hint, type = "text", optional, clearOnError, children, ...input }: FieldProps) {
  return (
    <LabelledControl field={field} label={label} hint={hint}>
      <div className="mt-1 flex gap-2">
        <input
          key={clearOnError ? field.resultCount : undefined}
          {...getControlProps(field, hint)}
          type={type}
          defaultValue={field.value}
          {...input}
          aria-required={!optional || undefined}
          className={inputClass}
        />
        {children}
      </div>
    </LabelledControl>
  );
}

type SelectOption = string | [value: string, label: string];

/** With `groups`, the list shows the options under the names of their groups. */
export function SelectField({
  options = [],
  groups = [],
  prompt,
  ...labelled
}: LabelledFieldProps & {
  options?: readonly SelectOption[];
  groups?: readonly { name: string; options: readonly SelectOption[] }[];
  prompt?: string;
}) {
  const { field, hint } = labelled;
  return (
    <LabelledControl {...labelled}>
      <select
        {...getControlProps(field, hint)}
        defaultValue={field.value}
        aria-required
        className={`mt-1 ${inputClass}`}
      >
        {prompt && <option value="">{prompt}</option>}
        {renderOptions(options)}
        {groups.map((group) => (
          <optgroup key={group.name} label={group.name}>
            {renderOptions(group.options)}
          </optgroup>
        ))}
      </select>
    </LabelledControl>
  );
}

function renderOptions(options: readonly SelectOption[]): ReactNode {
  return options.map((option) => {
    const [value, label] = typeof option === "string" ? [option, option] : option;
    return (
      <option key={label} value={value}>
        {label}
      </option>
    );
  });
}

export function TextField({
  mandatory = false,
  rows = 5,
  ...labelled
}: LabelledFieldProps & { mandatory?: boolean; rows?: number }) {
  const { field, hint } = labelled;
  const ref = usePreHydrationText(field.id);
  return (
    <LabelledControl {...labelled}>
      <textarea
        ref={ref}
        {...getControlProps(field, hint)}
        defaultValue={field.value}
        aria-required={mandatory || undefined}
        rows={rows}
        cols={40}
        className={`mt-1 ${inputClass}`}
      />
    </LabelledControl>
  );
}

/** Restores text that was typed into a textarea before hydration, because React's hydration resets textareas. */
function usePreHydrationText(id: string) {
  const isHydrated = useIsHydrated();
  const field = useRef<HTMLTextAreaElement>(null);
  const [typedText] = useState(() => (isHydrated ? null : readTextarea(id)));
  useLayoutEffect(() => {
    if (field.current && typedText !== null) field.current.value = typedText;
  }, [typedText]);
  return field;
}

function readTextarea(id: string): string | null {
  if (typeof document === "undefined") return null;
  const field = document.getElementById(id);
  return field instanceof HTMLTextAreaElement ? field.value : null;
}

export function FileField({ accept, ...labelled }: LabelledFieldProps & { accept: string }) {
  return (
    <LabelledControl {...labelled}>
      <input
        {...getControlProps(labelled.field, labelled.hint)}
        type="file"
        accept={accept}
        className={`mt-1 ${inputClass} ${fileButtonClass}`}
      />
    </LabelledControl>
  );
}

function LabelledControl({ field, label, hint, children }: LabelledFieldProps & { children: ReactNode }) {
  return (
    <div className={`mb-5 ${field.errors ? "border-l-4 border-failure pl-3" : ""}`}>
      <label htmlFor={field.id} className="block text-sm font-semibold">
        {label}
      </label>
      {hint && (
        <p id={`${field.id}-hint`} className="text-sm text-quiet">
          {hint}
        </p>
      )}
      {field.errors && (
        <p id={field.errorId} className="text-sm font-semibold text-failure">
          {field.errors.join(" ")}
        </p>
      )}
      {children}
    </div>
  );
}

function getControlProps({ id, name, errors, errorId, isFirstError }: FormField, hint: string | undefined) {
  return {
    id,
    name,
    "aria-invalid": errors ? true : undefined,
    "aria-describedby": [hint && `${id}-hint`, errors && errorId].filter(Boolean).join(" ") || undefined,
    // Without JavaScript, `autoFocus` makes the browser scroll to the first error.
    autoFocus: isFirstError || undefined,
  } as const;
}

export const fileButtonClass =
  "text-sm file:mr-3 file:border-0 file:bg-transparent file:font-semibold file:text-ink file:underline";

export const inputClass =
  "min-h-11 w-full min-w-0 rounded-label border border-edge bg-sunken px-3 py-2 text-base text-ink " +
  "aria-invalid:border-2 aria-invalid:border-failure";
