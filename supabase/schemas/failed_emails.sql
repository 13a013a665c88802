-- Emails that could not be sent, until a team member dismisses them.
create table public.undelivered_mails (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null default now(),
  kind text not null check (
    kind in (
      'invitation', 'client ID', 'new password', 'password change', 'second factor', 'notice', 'address change', 'erasure'
    )
  ),
  sent_to text not null check (char_length(sent_to) between 3 and 254),
  account uuid references auth.users (id) on delete cascade,
  client_id text references public.client_ids (client_id) on delete cascade,
  dealt_with_at timestamptz
);
alter table public.undelivered_mails enable row level security;
grant select on table public.undelivered_mails to authenticated, service_role;

create index undelivered_mails_open on public.undelivered_mails (at) where dealt_with_at is null;

-- An email that a form asks for is sent once, however often the form is sent: the first process to claim the key sends it.
-- A claim is deleted when the email could not be sent, and expires after two minutes in case the process died.
create table private.mail_claims (key uuid primary key, at timestamptz not null default now());
alter table private.mail_claims enable row level security;

-- Notes a mail that could not be handed over, or that somebody has dealt with one.
create function public.note_undelivered(kind text, sent_to text, account uuid default null, client_id text default null)
returns void
language sql volatile security definer
set search_path = ''
as $$
  insert into public.undelivered_mails (kind, sent_to, account, client_id)
  values (note_undelivered.kind, note_undelivered.sent_to, note_undelivered.account, note_undelivered.client_id)
$$;
grant execute on function public.note_undelivered(text, text, uuid, text) to service_role;

create function public.dismiss_undelivered(mail uuid, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  gone public.undelivered_mails;
begin
  update public.undelivered_mails set dealt_with_at = now()
  where id = dismiss_undelivered.mail and dealt_with_at is null returning * into gone;
  if found then
    perform private.log_act(actor, 'mail dealt with', account => gone.account, before => jsonb_build_object('kind', gone.kind));
  end if;
end
$$;
grant execute on function public.dismiss_undelivered(uuid, text) to authenticated, service_role;

create function public.claim_mail(request uuid, sent_to text) returns boolean
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  is_mine boolean;
begin
  delete from private.mail_claims where at < now() - interval '1 day';
  insert into private.mail_claims as claim (key) values (private.request_key(request, jsonb_build_array('mail', sent_to)))
  on conflict (key) do update set at = now() where claim.at < now() - interval '2 minutes'
  returning true into is_mine;
  return coalesce(is_mine, false);
end
$$;
grant execute on function public.claim_mail(uuid, text) to service_role;

create function public.release_mail(request uuid, sent_to text) returns void
language sql volatile security definer
set search_path = ''
as $$
  delete from private.mail_claims where key = private.request_key(request, jsonb_build_array('mail', sent_to))
$$;
grant execute on function public.release_mail(uuid, text) to service_role;

create policy "colleagues read what was not delivered" on public.undelivered_mails
for select to authenticated
using ((select private.is_colleague()));
