create table public.announcements (
  id uuid primary key default gen_random_uuid(),
  text text not null check (char_length(text) between 1 and 200) check (private.is_one_line(text)),
  started_at timestamptz not null default now(),
  ended_at timestamptz
);
alter table public.announcements enable row level security;
grant select on table public.announcements to authenticated, service_role;

create unique index announcements_one_at_a_time on public.announcements ((true)) where ended_at is null;

-- Publishes an announcement and ends the previous announcement. Raises PT400 if the text is empty.
create function public.announce(text text, idempotency_key uuid default null, actor_name text default null) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_text text := btrim(announce.text);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('announce', announce.text));
begin
  if private.is_repeated_action(key) then return; end if;
  perform private.reject_if(coalesce(trimmed_text, '') = '', 400, 'Enter an announcement.');
  perform pg_advisory_xact_lock(hashtextextended('announcement', 0));
  update public.announcements set ended_at = now() where ended_at is null;
  insert into public.announcements (text) values (trimmed_text);
  perform private.insert_audit_entry(
    actor, 'announcement publish', idempotency_key => key, after => jsonb_build_object('text', trimmed_text)
  );
end
$$;

create function public.remove_announcement(actor_name text default null) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  ended_text text;
begin
  update public.announcements set ended_at = now() where ended_at is null returning announcements.text into ended_text;
  if found then
    perform private.insert_audit_entry(actor, 'announcement remove', before => jsonb_build_object('text', ended_text));
  end if;
end
$$;

create policy "the session is active and has AAL2 if a second factor exists" on public.announcements
as restrictive for all to authenticated using ((select private.has_valid_session()));

create policy "signed-in accounts read announcements" on public.announcements
for select to authenticated using (true);

grant execute on function public.announce, public.remove_announcement to authenticated, service_role;
